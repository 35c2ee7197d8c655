/* The C library names these imports of WASI for files and for the end of the program (sprintf shares code with printf). Lua opens
 * no files, so they stand here and the module imports nothing of WASI. */
#include <stdint.h>

#define BAD_FILE 8

int32_t __imported_wasi_snapshot_preview1_fd_close(int32_t file) {
  (void)file;
  return BAD_FILE;
}

int32_t __imported_wasi_snapshot_preview1_fd_fdstat_get(int32_t file, int32_t at) {
  (void)file, (void)at;
  return BAD_FILE;
}

int32_t __imported_wasi_snapshot_preview1_fd_read(int32_t file, int32_t at, int32_t count, int32_t size) {
  (void)file, (void)at, (void)count, (void)size;
  return BAD_FILE;
}

int32_t __imported_wasi_snapshot_preview1_fd_write(int32_t file, int32_t at, int32_t count, int32_t size) {
  (void)file, (void)at, (void)count, (void)size;
  return BAD_FILE;
}

int32_t __imported_wasi_snapshot_preview1_fd_seek(int32_t file, int64_t offset, int32_t whence, int32_t at) {
  (void)file, (void)offset, (void)whence, (void)at;
  return BAD_FILE;
}

_Noreturn void __imported_wasi_snapshot_preview1_proc_exit(int32_t code) {
  (void)code;
  __builtin_trap();
}
