/** Whether a text can be sent as a header's value: `fetch` throws at anything else as if the server were unreachable (Fetch Standard, "header value"). Trailing blanks are removed. */
export const isHeaderValue = (text: string): boolean => !/[^\t\x20-\x7e\x80-\xff]/.test(text.trimEnd());
