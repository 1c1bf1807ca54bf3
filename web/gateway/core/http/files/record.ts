/** A file that a program has uploaded. */
export interface ApiFile {
  /** `file-<time><random>`: they sort by age. */
  id: string;
  /** Key or person that uploaded it. */
  principal: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** Milliseconds since 1970; undefined if it stays. */
  expiresAt?: number;
  filename: string;
  mimeType: string;
  purpose: string;
  bytes: number;
}

/** The content of a file, apart from what lists need. */
export interface ApiFileContent {
  /** `content/<id of the file>`. */
  id: string;
  /** Base64. */
  content: string;
}

export type ApiFileRecord = ApiFile | ApiFileContent;
