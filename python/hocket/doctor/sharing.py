"""Live probes of what ranks share memory by: anonymous files, socket names, reads of another process."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import mmap
import os
import socket
from pathlib import Path

from hocket.doctor.finding import Finding, Verdict

_probe_bytes = 1 << 20
_PR_SET_PTRACER = 0x59616D61


def anonymous_memory() -> Finding:
    """The arena is a memfd whose space is reserved before it is used."""
    try:
        descriptor = os.memfd_create("hocket-doctor", os.MFD_CLOEXEC)
        try:
            os.posix_fallocate(descriptor, 0, _probe_bytes)
            with mmap.mmap(descriptor, _probe_bytes) as area:
                area[0] = 1
        finally:
            os.close(descriptor)
    except OSError as problem:
        return Finding(
            "shared memory",
            Verdict.bad,
            f"memfd: {problem.strerror}",
            "a Linux kernel since 3.17 has memfd; a seccomp filter may forbid it",
        )
    return Finding("shared memory", Verdict.good, "memfd with reserved space")


def socket_names() -> Finding:
    """Ranks find each other by an abstract socket name and get the arena's descriptor through it."""
    name = f"\0hocket-doctor-{os.getpid()}"
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
            receiver.bind(name)
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, Path("/dev/null").open() as file:
                sender.connect(name)
                socket.send_fds(sender, [b"x"], [file.fileno()])
            _, descriptors, _, _ = socket.recv_fds(receiver, 1, 1)
            for descriptor in descriptors:
                os.close(descriptor)
    except OSError as problem:
        return Finding(
            "rendezvous",
            Verdict.bad,
            f"abstract Unix sockets: {problem.strerror}",
            "allow AF_UNIX sockets in the container's seccomp profile",
        )
    return Finding("rendezvous", Verdict.good, "abstract Unix sockets pass descriptors")


class _Piece(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def _read_from(pid: int, address: int, length: int) -> int:
    """process_vm_readv; 0 or the error number."""
    libc = ctypes.CDLL(None, use_errno=True)
    target = ctypes.create_string_buffer(length)
    local = _Piece(ctypes.addressof(target), length)
    remote = _Piece(address, length)
    got = libc.process_vm_readv(
        pid,
        ctypes.byref(local),
        ctypes.c_ulong(1),
        ctypes.byref(remote),
        ctypes.c_ulong(1),
        ctypes.c_ulong(0),
    )
    if got == length and target.raw == bytes(range(length)):
        return 0
    return ctypes.get_errno() or errno.EIO


def _let_others_read() -> None:
    """As every rank does: Yama's scope 1 allows only ancestors, unless the one to be read says otherwise."""
    ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_long(-1), *(ctypes.c_long(0),) * 3)


def _sibling_read() -> int:
    """Two children of one parent, as ranks are: one reads the other's memory."""
    source = ctypes.create_string_buffer(bytes(range(64)), 64)
    (go, hold), (allowed, allow) = os.pipe(), os.pipe()
    owner = os.fork()
    if owner == 0:
        os.close(hold)
        _let_others_read()
        os.write(allow, b"!")
        os.read(go, 1)  # until the parent closes its end
        os._exit(0)
    os.close(allow)
    reader = os.fork()
    if reader == 0:
        os.read(allowed, 1)
        os._exit(_read_from(owner, ctypes.addressof(source), 64))
    status = os.waitstatus_to_exitcode(os.waitpid(reader, 0)[1])
    for end in (go, hold, allowed):
        os.close(end)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(owner, 0)
    return status


def _mend_reads() -> str:
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    with contextlib.suppress(OSError):
        if (value := scope.read_text().strip()) not in ("0", "1"):
            return f"{scope} is {value}: 'sysctl kernel.yama.ptrace_scope=1' allows it"
    return "in a container: --cap-add=SYS_PTRACE, or a seccomp profile that allows process_vm_readv"


def kernel_reads() -> Finding:
    status = _sibling_read()
    if status == 0:
        return Finding("CMA", Verdict.good, "a process may read its sibling's memory (process_vm_readv)")
    why = os.strerror(status) if status > 0 else f"signal {-status}"
    return Finding(
        "CMA",
        Verdict.weak,
        f"process_vm_readv: {why}; large messages are copied twice instead",
        _mend_reads(),
    )
