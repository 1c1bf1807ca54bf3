import { bytesOfBase64, fromBase64 } from '#shared/base64.ts';
import type { Part } from '#shared/rpc/records.ts';
import { kindOf, READER } from '../documents/kinds.ts';
import { type ModelMessage, type ModelRequest, toolNames, Unsupported } from './provider.ts';

/** Maximum number of characters of a text file in a prompt. */
const SHOWN_CHARS = 50_000;

type FilePart = Pick<Extract<Part, { type: 'file' }>, 'filename' | 'mimeType' | 'data'>;

/** How a model can read attached files. */
export interface Reader {
  /** Names of the tools that can read them. */
  tools: ReadonlySet<string>;
  /** For an API client: the file is shown in full, or the request fails with `Unsupported`. */
  exact?: boolean | undefined;
  /** The tools can access the attachment: in a session's messages, but not in an API client's. */
  finds?: boolean;
  /** A file that cannot be shown exactly is described instead of rejected. */
  isLenient?: boolean;
}

export const NO_READER: Reader = { tools: new Set() };
/** Returns, for each message of a request, how its attachments can be read. */
export function readerOf(request: Pick<ModelRequest, 'tools' | 'exact'>): (message: Pick<ModelMessage, 'inSession' | 'files'>) => Reader {
  const tools = toolNames(request);
  return ({ inSession, files }) => ({
    tools: files ? new Set(files.readers) : tools,
    exact: files?.exact ?? (request.exact && inSession !== 'earlier'),
    finds: !request.exact || inSession !== undefined,
    isLenient: inSession === 'earlier',
  });
}

/** Name of the tool that reads a file. */
function toolFor({ filename, mimeType }: Pick<FilePart, 'filename' | 'mimeType'>, { tools, finds = true }: Reader): string | undefined {
  const kind = kindOf(filename, mimeType);
  return finds && kind && tools.has(READER[kind]) ? READER[kind] : undefined;
}

/** Whether an API client's file must be sent to the model itself, because no tool reads it. */
export const isExact = (part: Pick<FilePart, 'filename' | 'mimeType'>, reader: Reader): boolean =>
  reader.exact === true && toolFor(part, reader) === undefined;

/** Description of an attached file for a text-only model: its text, or its name and the tool that reads it, if `tools` has one. */
export function fileNote({ filename, mimeType, data }: FilePart, who: Reader): string {
  const kind = kindOf(filename, mimeType);
  const reader = toolFor({ filename, mimeType }, who);
  const exact = isExact({ filename, mimeType }, who);
  if (kind !== 'text' && kind !== 'html') {
    if (exact && !who.isLenient) throw new Unsupported('messages', `This model does not support ${filename} (${mimeType}).`);
    const how = reader
      ? `; read it with ${reader} and attachment ${JSON.stringify(filename)}`
      : '; its content is not text and is not shown';
    return `[The file ${filename} (${mimeType}, ${bytesOfBase64(data)} bytes) is attached${how}.]`;
  }
  // Four characters of base64 are three bytes.
  const limit = exact ? data.length : Math.ceil((SHOWN_CHARS * 4) / 3 / 4) * 4;
  const start = decodeText(data.slice(0, limit)).replaceAll('\r\n', '\n');
  if (data.length <= limit) return `File ${filename}:\n\n${start}`;
  // For a web page, the tool's offset counts characters of the extracted text, so none is given.
  const from = kind === 'text' ? ` and offset ${start.length}` : '';
  const rest = reader ? `read the rest with ${reader}, attachment ${JSON.stringify(filename)}${from}` : 'the rest is not shown';
  return `File ${filename}:\n\n${start}\n\n[The file goes on; ${rest}.]`;
}

function decodeText(base64: string): string {
  // The bytes may end in the middle of a character.
  return new TextDecoder().decode(fromBase64(base64), { stream: true });
}
