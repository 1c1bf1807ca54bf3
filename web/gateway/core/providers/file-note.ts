import { bytesOfBase64, fromBase64 } from '#shared/base64.ts';
import type { Part } from '#shared/rpc/records.ts';
import { kindOf, READER } from '../documents/kinds.ts';
import { type ModelMessage, type ModelRequest, toolNames, Unsupported } from './provider.ts';

/** Characters of a text file that a model is given at once. */
const SHOWN_CHARS = 50_000;

type FilePart = Pick<Extract<Part, { type: 'file' }>, 'filename' | 'mimeType' | 'data'>;

/** Who reads what is attached. */
export interface Reader {
  /** Names of the tools that may read it. */
  tools: ReadonlySet<string>;
  /** For a program: shown in full, or refused (`Unsupported`). */
  exact?: boolean | undefined;
  /** The tools find what is attached: to a session's messages, not to a program's own. */
  finds?: boolean;
  /** A file that cannot be shown exactly is described, not refused. */
  isLenient?: boolean;
}

export const NO_READER: Reader = { tools: new Set() };
/** Who reads what is attached to each message of a request. */
export function readerOf(request: Pick<ModelRequest, 'tools' | 'exact'>): (message: Pick<ModelMessage, 'inSession' | 'files'>) => Reader {
  const tools = toolNames(request);
  return ({ inSession, files }) => ({
    tools: files ? new Set(files.readers) : tools,
    exact: files?.exact ?? (request.exact && inSession !== 'earlier'),
    finds: !request.exact || inSession !== undefined,
    isLenient: inSession === 'earlier',
  });
}

/** The tool that reads a file. */
function toolFor({ filename, mimeType }: Pick<FilePart, 'filename' | 'mimeType'>, { tools, finds = true }: Reader): string | undefined {
  const kind = kindOf(filename, mimeType);
  return finds && kind && tools.has(READER[kind]) ? READER[kind] : undefined;
}

/** Whether a program's model is to be given a file itself: no tool reads it. */
export const isExact = (part: Pick<FilePart, 'filename' | 'mimeType'>, reader: Reader): boolean =>
  reader.exact === true && toolFor(part, reader) === undefined;

/** What a model that takes text alone is told of an attached file: its text, or its name and, where `tools` has it, the tool that reads it. */
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
  // Of a page, the reader counts the characters of what it makes of it.
  const from = kind === 'text' ? ` and offset ${start.length}` : '';
  const rest = reader ? `read the rest with ${reader}, attachment ${JSON.stringify(filename)}${from}` : 'the rest is not shown';
  return `File ${filename}:\n\n${start}\n\n[The file goes on; ${rest}.]`;
}

function decodeText(base64: string): string {
  // The bytes may end in the middle of a character.
  return new TextDecoder().decode(fromBase64(base64), { stream: true });
}
