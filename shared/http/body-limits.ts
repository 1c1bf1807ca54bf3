const MB = 1024 * 1024;

/** Maximum bytes of a request body. */
export const MAX_BODY_BYTES = 20 * MB;

/** Maximum bytes of a body with uploaded files: one of 25 MiB, as OpenAI takes them, and some more images. */
export const MAX_UPLOAD_BYTES = 32 * MB;

/** Whether a content type is that of a form with files. */
export const isUpload = (contentType: string | null | undefined): boolean => /^\s*multipart\/form-data\s*(;|$)/i.test(contentType ?? '');

/** Maximum bytes of a body with this content type. */
export const getMaxBodyBytes = (contentType: string | null | undefined): number =>
  isUpload(contentType) ? MAX_UPLOAD_BYTES : MAX_BODY_BYTES;

export const formatBodyTooLarge = (maxBytes: number): string => `Request bodies are limited to ${maxBytes / MB} MB`;
