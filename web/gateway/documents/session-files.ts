import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { MessagePart } from '#shared/rpc/record-schemas.ts';
import type { Vault } from '../storage/vault-interface.ts';
import type { MessageRecord } from '../storage/chat-records.ts';
import { type DocumentKind, getDocumentKind, READER_TOOLS } from './document-kinds.ts';

/** Maximum number of messages of a chat's branch that are searched for a file, and number per page. */
const MAX_SEARCHED_MESSAGES = 2000;
const PAGE_SIZE = 50;

export interface SessionFilesDeps {
  messages: Pick<Vault['messages'], 'branch'>;
  files: Pick<Vault['files'], 'get'>;
}

interface FileQuery {
  attachment?: string | undefined;
  path?: string | undefined;
  /** Kinds that the tool can read. */
  kinds: readonly DocumentKind[];
  workspace: string;
  sessionKey: string | null;
}

export interface FoundFile {
  name: string;
  kind: DocumentKind;
  bytes: Uint8Array<ArrayBuffer> | string;
}

/**
 * Finds a file of a chat, the newest with its name, or of a workspace. Throws `NOT_FOUND` with a list of existing files, and
 * `INVALID_PARAMS` for one of another kind.
 */
export async function findFile(deps: SessionFilesDeps, query: FileQuery): Promise<FoundFile> {
  const { attachment, path, workspace } = query;
  if (path !== undefined && attachment !== undefined)
    throw new RpcError('INVALID_PARAMS', 'Provide either `attachment` or `path`, not both.');
  if (path === undefined) return findAttachment(deps, query);
  const file = await deps.files.get(workspace, path.replace(/^(\.?\/)+/, ''));
  if (!file) throw new RpcError('NOT_FOUND', `No file "${path}" in workspace "${workspace}".`);
  return {
    name: file.path,
    kind: resolveKind(file.path, file.mimeType, query.kinds),
    bytes: file.encoding === 'base64' ? file.content : new TextEncoder().encode(file.content),
  };
}

async function findAttachment({ messages }: SessionFilesDeps, { attachment, kinds, sessionKey }: FileQuery): Promise<FoundFile> {
  if (sessionKey === null) throw new RpcError('NOT_FOUND', 'Attachments are only available in a chat.');
  const names = new Set<string>();
  let before: string | undefined;
  for (let searched = 0; searched < MAX_SEARCHED_MESSAGES; searched += PAGE_SIZE) {
    const page = await messages.branch(sessionKey, { limit: PAGE_SIZE, ...(before === undefined ? {} : { before }) });
    for (const part of getFileParts(page.messages)) {
      names.add(part.filename);
      const isMatch =
        attachment === undefined
          ? kinds.some((kind) => kind === getDocumentKind(part.filename, part.mimeType))
          : part.filename === attachment;
      if (isMatch) return { name: part.filename, kind: resolveKind(part.filename, part.mimeType, kinds), bytes: part.data };
    }
    before = page.messages[0]?.id;
    if (!page.more || before === undefined) break;
  }
  const description = attachment === undefined ? `No ${kinds.join(' or ')} file` : `No file "${attachment}"`;
  throw new RpcError(
    'NOT_FOUND',
    `${description} is attached in this chat.${names.size > 0 ? ` Attached files: ${[...names].slice(0, 50).join(', ')}.` : ''}`,
  );
}

/** Newest first. */
function getFileParts(messages: readonly MessageRecord[]): Extract<MessagePart, { type: 'file' }>[] {
  return messages
    .toReversed()
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content.filter((part) => part.type === 'file').toReversed()));
}

function resolveKind(name: string, mimeType: string, kinds: readonly DocumentKind[]): DocumentKind {
  const kind = getDocumentKind(name, mimeType);
  // Systems report an empty or damaged file as text, whatever its name says.
  const match = kinds.find((candidate) => candidate === kind) ?? kinds.find((candidate) => candidate === getDocumentKind(name, ''));
  if (match) return match;
  // A file of unknown type is read as the requested kind.
  const [first] = kinds;
  if (kind === undefined && first) return first;
  throw new RpcError(
    'INVALID_PARAMS',
    `This tool can’t read ${name}. ${kind === undefined ? 'No tool supports its type.' : `Use ${READER_TOOLS[kind]}.`}`,
  );
}
