/** Default hub for downloads of models to the browser; `models.hub` overrides it. */
export const HUGGINGFACE_URL = 'https://huggingface.co';
