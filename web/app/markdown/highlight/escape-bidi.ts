/** Escapes bidirectional control characters in code (`\u{202e}`), which would show it in another order than it runs. */
export const escapeBidi = (code: string): string =>
  code.replace(/[\u202a-\u202e\u2066-\u2069]/g, (char) => `\\u{${char.charCodeAt(0).toString(16)}}`);
