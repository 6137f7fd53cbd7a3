# Environments in which every collective is an algorithm of messages, and one along the machine, nodes being of two ranks,
# carried out by workers. Open MPI 5.0's own MPI_Ialltoallv is wrong in place (nonblocking_random 1795934734 on 4 ranks).
set(of_messages reduce:knomial,gather:linear,scatter:linear,allgather:ring,alltoall:linear,alltoallv:pairwise,reduce_scatter:pairwise
    scan:recursive_doubling,exscan:recursive_doubling)
list(JOIN of_messages "," of_messages)
set(all_messages HOCKET_FORCE=allreduce:ring,bcast:knomial,barrier:message_dissemination,${of_messages})
set(along_nodes "allreduce:recursive_doubling by nodes in 2 segments,bcast:knomial by nodes in 3 segments,reduce:knomial by nodes"
    "gather:linear by nodes,scatter:linear by nodes,allgather:ring by nodes,alltoall:bruck by nodes,alltoallv:pairwise reordered"
    "reduce_scatter:pairwise by nodes,barrier:message_dissemination by nodes,scan:recursive_doubling,exscan:recursive_doubling")
list(JOIN along_nodes "," along_nodes)
set(along_nodes HOCKET_NODE_SIZE=2 HOCKET_WORKERS=1 HOCKET_WORKER_CPUS=0-1 "HOCKET_FORCE=${along_nodes}")
