import { fileNameOf } from '#shared/file-name.ts';

/** The file with a readable name: the user decides by it, and drawings are named after it. */
export function plainlyNamed(file: File): File {
  const name = fileNameOf(file.name);
  return name === file.name ? file : new File([file], name, { type: file.type, lastModified: file.lastModified });
}
