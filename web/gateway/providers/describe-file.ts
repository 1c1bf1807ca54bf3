import { getBase64ByteLength, fromBase64 } from '#shared/base64.ts';
import type { MessagePart } from '#shared/rpc/record-schemas.ts';
import { getDocumentKind, READER_TOOLS } from '../documents/document-kinds.ts';
import { type ModelMessage, type ModelRequest, getToolNames, UnsupportedOptionError } from './provider.ts';

/** Maximum number of characters of a text file in a prompt. */
const MAX_FILE_CHARS = 50_000;

type FilePart = Pick<Extract<MessagePart, { type: 'file' }>, 'filename' | 'mimeType' | 'data'>;

/** How a model can read attached files. */
export interface AttachmentReader {
  /** Names of the tools that can read them. */
  tools: ReadonlySet<string>;
  /** For an API client: the file is shown in full, or the request fails with `UnsupportedOptionError`. */
  exact?: boolean | undefined;
  /** The tools can access the attachment: in a session's messages, but not in an API client's. */
  canFind?: boolean;
  /** A file that cannot be shown exactly is described instead of rejected. */
  isLenient?: boolean;
}

export const NO_READER: AttachmentReader = { tools: new Set() };
/** Returns, for each message of a request, how its attachments can be read. */
export function createReaderResolver(
  request: Pick<ModelRequest, 'tools' | 'exact'>,
): (message: Pick<ModelMessage, 'inSession' | 'files'>) => AttachmentReader {
  const tools = getToolNames(request);
  return ({ inSession, files }) => ({
    tools: files ? new Set(files.readers) : tools,
    exact: files?.exact ?? (request.exact && inSession !== 'earlier'),
    canFind: !request.exact || inSession !== undefined,
    isLenient: inSession === 'earlier',
  });
}

/** Name of the tool that reads a file. */
function findReaderTool(
  { filename, mimeType }: Pick<FilePart, 'filename' | 'mimeType'>,
  { tools, canFind = true }: AttachmentReader,
): string | undefined {
  const kind = getDocumentKind(filename, mimeType);
  return canFind && kind && tools.has(READER_TOOLS[kind]) ? READER_TOOLS[kind] : undefined;
}

/** Whether an API client's file must be sent to the model itself, because no tool reads it. */
export const mustSendFile = (part: Pick<FilePart, 'filename' | 'mimeType'>, reader: AttachmentReader): boolean =>
  reader.exact === true && findReaderTool(part, reader) === undefined;

/** Description of an attached file for a text-only model: its text, or its name and the tool that reads it, if `tools` has one. */
export function describeFile({ filename, mimeType, data }: FilePart, attachmentReader: AttachmentReader): string {
  const kind = getDocumentKind(filename, mimeType);
  const reader = findReaderTool({ filename, mimeType }, attachmentReader);
  const exact = mustSendFile({ filename, mimeType }, attachmentReader);
  if (kind !== 'text' && kind !== 'html') {
    if (exact && !attachmentReader.isLenient)
      throw new UnsupportedOptionError('messages', `This model does not support ${filename} (${mimeType}).`);
    const hint = reader
      ? `; read it with ${reader} and attachment ${JSON.stringify(filename)}`
      : '; its content is not text and is not shown';
    return `[The file ${filename} (${mimeType}, ${getBase64ByteLength(data)} bytes) is attached${hint}.]`;
  }
  // Four characters of base64 are three bytes.
  const limit = exact ? data.length : Math.ceil((MAX_FILE_CHARS * 4) / 3 / 4) * 4;
  const startText = decodeText(data.slice(0, limit)).replaceAll('\r\n', '\n');
  if (data.length <= limit) return `File ${filename}:\n\n${startText}`;
  // For a web page, the tool's offset counts characters of the extracted text, so none is given.
  const from = kind === 'text' ? ` and offset ${startText.length}` : '';
  const rest = reader ? `read the rest with ${reader}, attachment ${JSON.stringify(filename)}${from}` : 'the rest is not shown';
  return `File ${filename}:\n\n${startText}\n\n[The file goes on; ${rest}.]`;
}

function decodeText(base64: string): string {
  // The bytes may end in the middle of a character.
  return new TextDecoder().decode(fromBase64(base64), { stream: true });
}
