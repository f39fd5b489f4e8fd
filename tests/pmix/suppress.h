/* Tells sanitizers to ignore some blocks that libpmix 4.2 itself never frees in
 * a tool. To be included in one file of a program. */
#ifndef TESTS_PMIX_SUPPRESS_H
#define TESTS_PMIX_SUPPRESS_H

#define FOR_SANITIZERS(name, text)                                             \
    __attribute__((visibility("default"))) const char *name(void);             \
    const char *name(void)                                                     \
    {                                                                          \
        return text;                                                           \
    }

FOR_SANITIZERS(__lsan_default_suppressions, "leak:libpmix.so\n")
FOR_SANITIZERS(__lsan_default_options, "print_suppressions=0")

#endif
