/** A file uploaded by an API client. */
export interface ApiFile {
  /** `file-<time><random>`: ids sort by age. */
  id: string;
  /** Key or person that uploaded it. */
  principal: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** Milliseconds since 1970; undefined if the file does not expire. */
  expiresAt?: number;
  filename: string;
  mimeType: string;
  purpose: string;
  bytes: number;
}

/** The content of a file, stored separately because lists do not need it. */
interface ApiFileContent {
  /** `content/<file id>`. */
  id: string;
  /** Base64. */
  content: string;
}

export type ApiFileRecord = ApiFile | ApiFileContent;
