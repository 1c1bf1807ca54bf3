/** Ollama's own API as Perch serves it (https://docs.ollama.com/api): which requests are in its form, and the form of its errors. */

/** `url` is a path. */
export const isOllamaApi = (url: string): boolean => /^\/api(?:[/?]|$)/.test(url);

/** The release of Ollama whose API this implements: programs check it before they use newer features. */
export const OLLAMA_VERSION = '0.13.5';

export const createOllamaError = (message: string): { error: string } => ({ error: message });

export const NDJSON_HEADERS = { 'content-type': 'application/x-ndjson', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' };
