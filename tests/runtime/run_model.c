/* Runs a compiled model of one input and one output: run_model MODEL.so INPUT OUTPUT. Both files hold the tensor's bytes,
 * row-major, and nothing else. A program in C needs the runtime's C API and its shared library only. */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/c_api.h"

static void fail(const char* what, const char* why) {
  fprintf(stderr, "run_model: %s: %s\n", what, why);
  exit(1);
}

static void check(int code) {
  if (code != HONE_OK) fail("expected the runtime to do it", hone_last_error());
}

int main(int argc, char** argv) {
  if (argc != 4) fail("expected three arguments", "run_model MODEL.so INPUT OUTPUT");
  hone_model* model = NULL;
  check(hone_open(argv[1], 0, &model));
  struct hone_tensor_info input;
  struct hone_tensor_info output;
  check(hone_input_info(model, 0, &input));
  check(hone_output_info(model, 0, &output));

  void* bytes = malloc(input.size_bytes);
  FILE* file = fopen(argv[2], "rb");
  if (bytes == NULL || file == NULL || fread(bytes, 1, input.size_bytes, file) != input.size_bytes) {
    fail("expected a file of the input's size", argv[2]);
  }
  fclose(file);
  check(hone_set_input(model, 0, bytes, input.size_bytes));
  free(bytes);
  check(hone_run(model));

  file = fopen(argv[3], "wb");
  if (file == NULL || fwrite(hone_output(model, 0), 1, output.size_bytes, file) != output.size_bytes ||
      fclose(file) != 0) {
    fail("expected a file that can be written", argv[3]);
  }
  hone_close(model);
  return 0;
}
