import { toSafeFileName } from '#shared/file-name.ts';

/** The file with a readable name: the user decides by it, and drawings are named after it. */
export function withReadableName(file: File): File {
  const name = toSafeFileName(file.name);
  return name === file.name ? file : new File([file], name, { type: file.type, lastModified: file.lastModified });
}
