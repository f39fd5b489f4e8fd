/* Texts of errors for the user: what is wrong, and what to do. */
#ifndef ENDPOINTS_SYS_WHY_H
#define ENDPOINTS_SYS_WHY_H

enum { EP_WHY_MAX = 256 /* room for such a text, with its NUL */ };

#endif
