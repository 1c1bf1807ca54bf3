/** Code as it is run: what would make parts of it read in another order is written out (`\u{202e}`). */
export const escapeBidi = (code: string): string =>
  code.replace(/[\u202a-\u202e\u2066-\u2069]/g, (char) => `\\u{${char.charCodeAt(0).toString(16)}}`);
