/** Where models for browsers are downloaded from, unless `models.hub` is set. */
export const HUGGINGFACE = 'https://huggingface.co';
