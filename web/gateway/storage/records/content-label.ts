/** Marks content written by a run that had read from outside, until a person has reviewed it. */
export interface ContentLabel {
  /**
   * `file:<workspace>/<path>`, `memory:<workspace>/<memory id>`, `plan:<id>` or `drawing:<id>`; `reply:<SHA-256>` for the text of a reply
   * to a program.
   */
  id: string;
  /** Such as `web:example.com`. */
  sources: string[];
  /** Addresses in the content that were read or typed. Undefined in labels of older builds, and if there are none. */
  quotedUrls?: string[];
  /** Milliseconds since the Unix epoch. */
  at: number;
}
