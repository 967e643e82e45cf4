#include "agent/image.h"

#ifdef TESON_AGENT_PROGRAM
asm(".pushsection .rodata\n"
    ".balign 64\n"
    "teson_agent_image_begin:\n"
    ".incbin \"" TESON_AGENT_PROGRAM
    "\"\n"
    "teson_agent_image_end:\n"
    ".popsection\n");
extern "C" {
extern const unsigned char teson_agent_image_begin[];
extern const unsigned char teson_agent_image_end[];
}
#endif

namespace teson {

std::span<const unsigned char> agent_image() {
#ifdef TESON_AGENT_PROGRAM
  return {teson_agent_image_begin, teson_agent_image_end};
#else
  return {};
#endif
}

}  // namespace teson
