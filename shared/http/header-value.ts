/** Whether this can be sent as a header's value: `fetch` throws at anything else, as if the server were away (Fetch Standard, "header value"). Blanks behind it go. */
export const isHeaderValue = (text: string): boolean => !/[^\t\x20-\x7e\x80-\xff]/.test(text.trimEnd());
