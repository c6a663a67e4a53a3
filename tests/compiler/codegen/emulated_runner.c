/* emulated_runner MODULE.so BUFFERS: runs the launches of the module's first kernel, each grid cut
 * into pieces and the last first. BUFFERS has the bytes of the kernel's buffers one after the
 * other, and has what they hold afterwards in the end. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/module_abi.h"

enum { PAGE = 4096, PIECE = 3 };

/* So many bytes that end at a page that cannot be touched, as HONE_BUFFER_ALIGNMENT allows. */
static char* guarded(size_t bytes) {
  const size_t whole = (bytes + HONE_BUFFER_ALIGNMENT - 1) / HONE_BUFFER_ALIGNMENT;
  const size_t used = whole * HONE_BUFFER_ALIGNMENT;
  const size_t pages = (used + PAGE - 1) / PAGE * PAGE;
  char* base =
      mmap(NULL, pages + 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) exit(3);
  mprotect(base, PAGE, PROT_NONE);
  mprotect(base + PAGE + pages, PAGE, PROT_NONE);
  char* data = base + PAGE + pages - used;
  memset(data, 0xFF, used);
  return data;
}

static void run(const struct hone_launch* launch, void* const* buffers) {
  char* scratch = guarded(launch->scratch_bytes + 1);
  for (int64_t end = launch->grid_extent; end > 0; end -= PIECE) {
    launch->function(buffers, end > PIECE ? end - PIECE : 0, end, scratch);
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  void* handle = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 3;
  }
  const struct hone_module* module = dlsym(handle, HONE_MODULE_SYMBOL);
  FILE* file = fopen(argv[2], "r+b");
  if (module == NULL || file == NULL) return 3;
  const struct hone_kernel* kernel = &module->kernels[0];
  void** buffers = calloc(kernel->buffer_count, sizeof(void*));
  for (uint32_t i = 0; i < kernel->buffer_count; ++i) {
    const size_t bytes = kernel->buffers[i].size_bytes;
    buffers[i] = guarded(bytes);
    if (fread(buffers[i], 1, bytes, file) != bytes) return 4;
  }
  for (uint32_t i = 0; i < kernel->launch_count; ++i) run(&kernel->launches[i], buffers);
  rewind(file);
  for (uint32_t i = 0; i < kernel->buffer_count; ++i) {
    const size_t bytes = kernel->buffers[i].size_bytes;
    if (fwrite(buffers[i], 1, bytes, file) != bytes) return 4;
  }
  return fclose(file) == 0 ? 0 : 4;
}
