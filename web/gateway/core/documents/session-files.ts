import { RpcError } from '#shared/rpc/errors.ts';
import type { Part } from '#shared/rpc/records.ts';
import type { MessageRecord, Vault } from '../vault.ts';
import { type DocumentKind, kindOf, READER } from './kinds.ts';

/** Maximum number of messages of a chat's branch that are searched for a file, and number per page. */
const SEARCHED = 2000;
const PAGE = 50;

export interface FilesDeps {
  messages: Pick<Vault['messages'], 'branch'>;
  files: Pick<Vault['files'], 'get'>;
}

export interface FileWanted {
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
export async function findFile(deps: FilesDeps, wanted: FileWanted): Promise<FoundFile> {
  const { attachment, path, workspace } = wanted;
  if (path !== undefined && attachment !== undefined)
    throw new RpcError('INVALID_PARAMS', 'Provide either `attachment` or `path`, not both.');
  if (path === undefined) return attached(deps, wanted);
  const file = await deps.files.get(workspace, path.replace(/^(\.?\/)+/, ''));
  if (!file) throw new RpcError('NOT_FOUND', `No file "${path}" in workspace "${workspace}".`);
  return {
    name: file.path,
    kind: fitting(file.path, file.mimeType, wanted.kinds),
    bytes: file.encoding === 'base64' ? file.content : new TextEncoder().encode(file.content),
  };
}

async function attached({ messages }: FilesDeps, { attachment, kinds, sessionKey }: FileWanted): Promise<FoundFile> {
  if (sessionKey === null) throw new RpcError('NOT_FOUND', 'Attachments are only available in a chat.');
  const names = new Set<string>();
  let before: string | undefined;
  for (let seen = 0; seen < SEARCHED; seen += PAGE) {
    const page = await messages.branch(sessionKey, { limit: PAGE, ...(before === undefined ? {} : { before }) });
    for (const part of filesIn(page.messages)) {
      names.add(part.filename);
      const fits =
        attachment === undefined ? kinds.some((kind) => kind === kindOf(part.filename, part.mimeType)) : part.filename === attachment;
      if (fits) return { name: part.filename, kind: fitting(part.filename, part.mimeType, kinds), bytes: part.data };
    }
    before = page.messages[0]?.id;
    if (!page.more || before === undefined) break;
  }
  const which = attachment === undefined ? `No ${kinds.join(' or ')} file` : `No file "${attachment}"`;
  throw new RpcError(
    'NOT_FOUND',
    `${which} is attached in this chat.${names.size > 0 ? ` Attached files: ${[...names].slice(0, 50).join(', ')}.` : ''}`,
  );
}

/** Newest first. */
function filesIn(messages: readonly MessageRecord[]): Extract<Part, { type: 'file' }>[] {
  return messages
    .toReversed()
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content.filter((part) => part.type === 'file').toReversed()));
}

function fitting(name: string, mimeType: string, kinds: readonly DocumentKind[]): DocumentKind {
  const kind = kindOf(name, mimeType);
  // Systems report an empty or damaged file as text, whatever its name says.
  const asked = kinds.find((each) => each === kind) ?? kinds.find((each) => each === kindOf(name, ''));
  if (asked) return asked;
  // A file of unknown type is read as the requested kind.
  const [first] = kinds;
  if (kind === undefined && first) return first;
  throw new RpcError(
    'INVALID_PARAMS',
    `This tool can’t read ${name}. ${kind === undefined ? 'No tool supports its type.' : `Use ${READER[kind]}.`}`,
  );
}
