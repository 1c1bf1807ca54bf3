/** Why a file was not imported, in words that follow its name. */
export const IMPORT_ERRORS = {
  empty: 'the file is empty',
  tooLarge: 'the file is larger than 500 MB',
  innerTooLarge: 'its contents are larger than 500 MB',
  nothingInside: 'the zip file has no chats in a supported format',
  brokenZip: 'the zip file is damaged or incomplete',
  damaged: 'the file is damaged or password-protected',
  noSpeaker: 'the Markdown file has no messages (## You, ## Assistant)',
  notJson: 'the file isn’t valid JSON',
  unknown: 'no chats found in a supported format',
  notUtf8: 'the file isn’t UTF-8 text',
  geminiHtml: 'it is an HTML file without Gemini prompts',
  notes: 'these are notes; import them on the Wiki page',
} as const;

export type ImportErrorCode = keyof typeof IMPORT_ERRORS;

/** A file cannot be imported. */
export class ImportError extends Error {
  override readonly name = 'Unimportable';
  readonly refusal: ImportErrorCode;

  constructor(refusal: ImportErrorCode, options?: ErrorOptions) {
    super(IMPORT_ERRORS[refusal], options);
    this.refusal = refusal;
  }
}
