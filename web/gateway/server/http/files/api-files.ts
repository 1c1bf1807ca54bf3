import { fromBase64, toBase64 } from '#shared/base64.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Collection } from '../../../storage/vault-interface.ts';
import { badRequest, HttpError } from '../http-error.ts';
import { createTimedId, isVisibleTo } from '../ids.ts';
import { parseHttpParams } from '../parse-http-params.ts';
import type { ApiFile, ApiFileRecord } from '../../../storage/records/api-file-record.ts';

const MB = 1024 * 1024;
/** Limits of uploaded files: number, bytes in total and bytes of each. */
export const API_FILE_LIMITS = { count: 1000, bytes: 256 * MB, fileBytes: 16 * MB };

const FILE_ID_PREFIX = 'file-';
const CONTENT_ID_PREFIX = 'content/';

interface ApiFilesDeps {
  apiFiles: Collection<ApiFileRecord>;
  clock: Pick<Clock, 'now'>;
}

const pageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(10_000).default(10_000),
  order: z.enum(['asc', 'desc']).default('desc'),
  after: z.string().max(200).optional(),
  purpose: z.string().max(100).optional(),
});
export const uploadRequest = z.object({
  purpose: z.string('is required').min(1).max(100),
  expires_after: z.coerce
    .number()
    .int()
    .min(3600)
    .max(30 * 24 * 3600)
    .nullish(),
});

/** `/v1/files`: files that API clients upload and refer to in their requests. All methods throw errors that `toHttpError` explains. */
export class ApiFiles {
  readonly #deps: ApiFilesDeps;

  constructor(deps: ApiFilesDeps) {
    this.#deps = deps;
  }

  /** `POST /v1/files`, a form with `file` and `purpose`. */
  async upload(request: Request, principal: string): Promise<Response> {
    const form = await request.formData().catch(() => undefined);
    if (!form) throw badRequest('The body must be a form (multipart/form-data) with `file` and `purpose`.');
    const upload = form.get('file');
    if (!(upload instanceof Blob)) throw badRequest('`file` is required and must be a file.', 'file');
    const { purpose, expires_after } = parseHttpParams(uploadRequest, {
      purpose: form.get('purpose') ?? undefined,
      expires_after: form.get('expires_after[seconds]') ?? undefined,
    });
    const { fileBytes } = API_FILE_LIMITS;
    if (upload.size > fileBytes)
      throw new HttpError(413, 'invalid_request_error', `\`file\` must not be larger than ${fileBytes / MB} MB.`, { param: 'file' });
    const now = this.#deps.clock.now();
    await this.#freeSpace(upload.size);
    const filename = upload instanceof File && upload.name !== '' ? upload.name.slice(0, 500) : 'file';
    const file: ApiFile = {
      ...{ id: createTimedId(FILE_ID_PREFIX, now), principal, createdAt: now, filename, purpose, bytes: upload.size },
      mimeType: toMimeType(upload.type, filename),
      ...(expires_after == null ? {} : { expiresAt: now + expires_after * 1000 }),
    };
    // Content is stored first, so that no file is listed without it.
    const content = toBase64(new Uint8Array(await upload.arrayBuffer()));
    await this.#deps.apiFiles.put({ id: CONTENT_ID_PREFIX + file.id, content });
    await this.#deps.apiFiles.put(file);
    return Response.json(toObject(file));
  }

  /** `GET /v1/files`. */
  async list(request: Request, principal: string): Promise<Response> {
    const { limit, order, after, purpose } = parseHttpParams(pageQuery, Object.fromEntries(new URL(request.url).searchParams));
    const visible = (await this.#listAll()).filter(
      (file) => isVisibleTo(principal, file) && !this.#isExpired(file) && (purpose === undefined || file.purpose === purpose),
    );
    const files = order === 'desc' ? visible.toReversed() : visible;
    const from = after === undefined ? 0 : files.findIndex(({ id }) => id === after) + 1;
    if (after !== undefined && from === 0) throw badRequest(`No file with id "${after}" (\`after\`).`, 'after');
    const data = files.slice(from, from + limit).map(toObject);
    const [first_id = null, last_id = null] = [data[0]?.['id'], data.at(-1)?.['id']];
    return Response.json({ object: 'list', data, first_id, last_id, has_more: from + limit < files.length });
  }

  /** `GET /v1/files/{id}`. */
  async get(id: string, principal: string): Promise<Response> {
    return Response.json(toObject(await this.#require(id, principal)));
  }

  /** `GET /v1/files/{id}/content`. Never shown in a browser as a page of this origin. */
  async content(id: string, principal: string): Promise<Response> {
    const file = await this.#require(id, principal);
    return new Response(fromBase64((await this.#read(file)).content), {
      headers: { 'content-type': 'application/octet-stream', 'content-disposition': 'attachment', 'x-content-type-options': 'nosniff' },
    });
  }

  /** `DELETE /v1/files/{id}`. */
  async remove(id: string, principal: string): Promise<Response> {
    await this.#remove(await this.#require(id, principal));
    return Response.json({ id, object: 'file', deleted: true });
  }

  /** A file with its content as a data URL; undefined if it does not exist or belongs to another key. */
  async find(id: string, principal: string): Promise<{ filename: string; url: string } | undefined> {
    const file = await this.#get(id, principal);
    if (!file) return undefined;
    return { filename: file.filename, url: `data:${file.mimeType};base64,${(await this.#read(file)).content}` };
  }

  async #get(id: string, principal: string): Promise<ApiFile | undefined> {
    const file = id.startsWith(FILE_ID_PREFIX) ? await this.#deps.apiFiles.get(id) : undefined;
    return file && 'purpose' in file && isVisibleTo(principal, file) && !this.#isExpired(file) ? file : undefined;
  }

  async #require(id: string, principal: string): Promise<ApiFile> {
    const file = await this.#get(id, principal);
    if (!file) throw new HttpError(404, 'not_found', `No file with id "${id.slice(0, 200)}".`);
    return file;
  }

  async #read({ id }: ApiFile): Promise<{ content: string }> {
    const record = await this.#deps.apiFiles.get(CONTENT_ID_PREFIX + id);
    if (!record || !('content' in record)) throw new HttpError(404, 'not_found', `The content of the file "${id}" is missing.`);
    return record;
  }

  /** Oldest first. */
  async #listAll(): Promise<ApiFile[]> {
    return (await this.#deps.apiFiles.list(FILE_ID_PREFIX)).filter((record) => 'purpose' in record);
  }

  #isExpired({ expiresAt }: ApiFile): boolean {
    return expiresAt !== undefined && expiresAt <= this.#deps.clock.now();
  }

  async #remove({ id }: ApiFile): Promise<void> {
    await this.#deps.apiFiles.remove(id);
    await this.#deps.apiFiles.remove(CONTENT_ID_PREFIX + id);
  }

  /** Removes expired files. Throws if there is no space for another one: files are kept until their client deletes them. */
  async #freeSpace(bytes: number): Promise<void> {
    const all = await this.#listAll();
    for (const file of all) if (this.#isExpired(file)) await this.#remove(file);
    const remaining = all.filter((file) => !this.#isExpired(file));
    const sum = remaining.reduce((total, file) => total + file.bytes, bytes);
    if (remaining.length >= API_FILE_LIMITS.count || sum > API_FILE_LIMITS.bytes)
      throw badRequest(
        `There is no room for more files: at most ${API_FILE_LIMITS.count} with ${API_FILE_LIMITS.bytes / MB} MB together. Delete some with DELETE /v1/files/{id}.`,
        'file',
      );
  }
}

const MIME_TYPES: Readonly<Record<string, string>> = {
  ...{ pdf: 'application/pdf', json: 'application/json', txt: 'text/plain', md: 'text/markdown', csv: 'text/csv', html: 'text/html' },
  ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', webp: 'image/webp', gif: 'image/gif', wav: 'audio/wav', mp3: 'audio/mpeg' },
};

/** Clients often send no type, so it is derived from the file's name. */
function toMimeType(type: string, filename: string): string {
  const [baseType = ''] = type.split(';');
  if (/^[\w.+-]+\/[\w.+-]+$/.test(baseType) && baseType !== 'application/octet-stream') return baseType.toLowerCase();
  return MIME_TYPES[/\.(\w+)$/.exec(filename)?.[1]?.toLowerCase() ?? ''] ?? 'application/octet-stream';
}

const toObject = ({ id, bytes, createdAt, expiresAt, filename, purpose }: ApiFile): Record<string, unknown> => ({
  ...{ id, object: 'file', bytes, created_at: Math.floor(createdAt / 1000), filename, purpose, status: 'processed', status_details: null },
  expires_at: expiresAt === undefined ? null : Math.floor(expiresAt / 1000),
});
