//! The system calls of sockets, counted.
//!
//! `/proc/self/io` does not count `recv` and `send`, by which Rust reads and writes sockets, and tracing would slow down what
//! is measured. So the program has its own functions of these names, which the linker prefers to those of the C library:
//! each counts and makes the call.
#![allow(unsafe_code)]

use std::ptr::null_mut;

use libc::{c_int, c_void, epoll_event, iovec, msghdr, size_t, sockaddr, socklen_t, ssize_t};

use crate::counters::{Counter, add};

macro_rules! counted {
    ($($counter:ident $name:ident($($argument:ident: $kind:ty),*) -> $result:ty = $number:ident($($value:expr),*);)*) => {$(
        /// Safety: the C library's contract, which the kernel checks.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $kind),*) -> $result {
            add(Counter::$counter, 1);
            // It sets errno as the function of the C library does.
            unsafe { libc::syscall(libc::$number, $($value),*) as $result }
        }
    )*};
}

const NOWHERE: *mut c_void = null_mut();

counted! {
    Receives recv(fd: c_int, to: *mut c_void, size: size_t, flags: c_int) -> ssize_t
        = SYS_recvfrom(fd, to, size, flags, NOWHERE, NOWHERE);
    Receives recvfrom(fd: c_int, to: *mut c_void, size: size_t, flags: c_int, from: *mut sockaddr, length: *mut socklen_t) -> ssize_t
        = SYS_recvfrom(fd, to, size, flags, from, length);
    Receives recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t = SYS_recvmsg(fd, message, flags);
    Receives readv(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t = SYS_readv(fd, parts, count);
    Sends send(fd: c_int, from: *const c_void, size: size_t, flags: c_int) -> ssize_t
        = SYS_sendto(fd, from, size, flags, NOWHERE, 0);
    Sends sendto(fd: c_int, from: *const c_void, size: size_t, flags: c_int, to: *const sockaddr, length: socklen_t) -> ssize_t
        = SYS_sendto(fd, from, size, flags, to, length);
    Sends sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t = SYS_sendmsg(fd, message, flags);
    Sends writev(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t = SYS_writev(fd, parts, count);
    Polls epoll_wait(fd: c_int, events: *mut epoll_event, count: c_int, timeout_ms: c_int) -> c_int
        = SYS_epoll_pwait(fd, events, count, timeout_ms, NOWHERE, 0);
    Wakes write(fd: c_int, from: *const c_void, size: size_t) -> ssize_t = SYS_write(fd, from, size);
}
