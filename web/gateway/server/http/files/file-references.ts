import { badRequest } from '../http-error.ts';
import type { ApiFiles } from './api-files.ts';

type JsonObject = Record<string, unknown>;
const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Maximum total length of the data URLs of uploaded files in one request. */
const MAX_BASE64_CHARS = 28_000_000;

/**
 * Replaces each `file_id` in a request for chat completions or responses with the content of the uploaded file. Unknown ids stay: they may
 * be the provider's. Returns the same object if there is nothing to replace.
 */
export async function withUploadedFiles(
  body: JsonObject,
  principal: string,
  files: () => Promise<Pick<ApiFiles, 'find'>>,
): Promise<JsonObject> {
  const parts = findParts(body);
  if (parts.length === 0) return body;
  const store = await files();
  const replacements = new Map<JsonObject, JsonObject>();
  let size = 0;
  for (const part of parts) {
    const id = getFileId(part);
    const file = id === undefined ? undefined : await store.find(id, principal);
    if (!file) continue;
    size += file.url.length;
    if (size > MAX_BASE64_CHARS) throw badRequest('The files of this request are too large together. At most 20 MB fit.');
    replacements.set(part, withContent(part, file));
  }
  return replacements.size === 0 ? body : (replaceParts(body, replacements) as JsonObject);
}

function getFileId(part: JsonObject): string | undefined {
  const id = part['type'] === 'file' && isObject(part['file']) ? part['file']['file_id'] : part['file_id'];
  return typeof id === 'string' ? id : undefined;
}

function withContent(part: JsonObject, { filename, url }: { filename: string; url: string }): JsonObject {
  const { file_id: _id, ...rest } = part;
  if (part['type'] === 'input_image') return { ...rest, image_url: url };
  if (part['type'] === 'input_file') return { ...rest, filename, file_data: url };
  return { ...part, file: { filename, file_data: url } };
}

/** Messages and items, and the parts of their `content` or `output`. */
const findParts = (body: JsonObject): JsonObject[] =>
  [body['messages'], body['input']].flatMap((list) =>
    (Array.isArray(list) ? list : []).flatMap((item: unknown) =>
      isObject(item)
        ? [item['content'], item['output']].flatMap((content) =>
            (Array.isArray(content) ? content : []).filter(
              (part: unknown): part is JsonObject => isObject(part) && getFileId(part) !== undefined,
            ),
          )
        : [],
    ),
  );

function replaceParts(value: unknown, replacements: ReadonlyMap<JsonObject, JsonObject>, depth = 0): unknown {
  if (Array.isArray(value)) return value.map((each) => replaceParts(each, replacements, depth + 1));
  if (!isObject(value)) return value;
  const replacement = replacements.get(value);
  if (replacement) return replacement;
  // Maximum depth of parts: body, list, item, content, part.
  if (depth > 4) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, replaceParts(each, replacements, depth + 1)]));
}
