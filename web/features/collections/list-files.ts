import ignore, { type Ignore } from 'ignore';
import type { DirectoryNode, FileNode, FolderNode } from './folder-tree.ts';

/** Maximum number of documents in a collection. */
export const MAX_FILES = 10_000;
/** Maximum size of a file that a page sends, in bytes (`COLLECTION_LIMITS`). */
export const MAX_FILE_BYTES = 18 * 1024 * 1024;

const IGNORED_FOLDERS = new Set(['node_modules', '__pycache__', '__MACOSX', 'bower_components']);
const IGNORED_FILES = /^(thumbs\.db|desktop\.ini|~\$.*)$/i;
/** Files without text that could be read: recordings, archives, programs, fonts, databases. */
const UNREADABLE =
  /\.(mp[34]|m4[av]|mkv|mov|avi|webm|wav|flac|ogg|opus|aac|wma|wmv|zip|gz|tgz|bz2|xz|zst|7z|rar|tar|iso|dmg|exe|msi|dll|so|dylib|bin|o|a|class|jar|war|pyc|wasm|apk|deb|rpm|ttf|otf|woff2?|eot|sqlite3?|db|mdb|psd|ai|blend|gguf|onnx|safetensors|pt|ckpt|parquet)$/i;

export interface ListedFile {
  /** Path from the chosen folder's name on, or the name of a single file. */
  path: string;
  file: File;
}

/** Files found in folders, and the number of those left out by reason. Hidden and ignored ones are not counted. */
export interface FileListing {
  /** Name of the folder, if a single one was chosen. */
  folderName: string | null;
  files: ListedFile[];
  bytes: number;
  tooLarge: number;
  unreadable: number;
  /** Whether there are more than `MAX_FILES`. */
  isCut: boolean;
}

interface IgnoreRules {
  /** Length of the path of the folder that they are for, with its slash. */
  offset: number;
  rules: Ignore;
}

/**
 * Lists the files of folders, at any depth and in the order of their names, without hidden files, those that a `.gitignore` excludes, and
 * kinds that have no text. `onfound` is called with the count so far.
 */
export async function listFiles(
  roots: readonly FolderNode[],
  { signal, onfound }: { signal?: AbortSignal; onfound?: (count: number) => void } = {},
): Promise<FileListing> {
  const [root] = roots;
  const folderName = roots.length === 1 && root?.kind === 'folder' ? root.name : null;
  const listing: FileListing = { folderName, files: [], bytes: 0, tooLarge: 0, unreadable: 0, isCut: false };

  async function addFile(node: FileNode, path: string): Promise<void> {
    if (UNREADABLE.test(node.name)) return void listing.unreadable++;
    const file = await node.read().catch(() => null);
    if (!file) listing.unreadable++;
    else if (file.size > MAX_FILE_BYTES) listing.tooLarge++;
    else if (listing.files.length >= MAX_FILES) listing.isCut = true;
    else if (file.size > 0) {
      listing.files.push({ path, file });
      listing.bytes += file.size;
      onfound?.(listing.files.length);
    }
  }

  async function addFolder(node: DirectoryNode, prefix: string, inherited: readonly IgnoreRules[]): Promise<void> {
    const children = await node.list();
    const rules = [...inherited, ...(await readIgnoreRules(children, prefix))];
    await addNodes(children, prefix, rules);
  }

  async function addNodes(nodes: readonly FolderNode[], prefix: string, rules: readonly IgnoreRules[]): Promise<void> {
    for (const node of nodes.toSorted((a, b) => a.name.localeCompare(b.name))) {
      signal?.throwIfAborted();
      if (listing.isCut) return;
      const path = prefix + toPathPart(node.name);
      if (isIgnored(node, path, rules)) continue;
      if (node.kind === 'file') await addFile(node, path);
      else await addFolder(node, `${path}/`, rules);
    }
  }

  await addNodes(roots, '', []);
  return listing;
}

/** A name as the gateway accepts it in a path: without the characters that it refuses there. */
const toPathPart = (name: string): string => name.normalize('NFC').replace(/[/\\\p{Cc}\p{Cs}]/gu, '_');

function isIgnored({ kind, name }: FolderNode, path: string, rules: readonly IgnoreRules[]): boolean {
  if (name.startsWith('.')) return true;
  if (kind === 'folder' ? IGNORED_FOLDERS.has(name) : IGNORED_FILES.test(name)) return true;
  // Rules for folders only end with a slash, as the path of a folder does.
  return rules.some(({ offset, rules }) => rules.ignores(path.slice(offset) + (kind === 'folder' ? '/' : '')));
}

/** The rules of a folder's `.gitignore`; none if it has none or it cannot be read. */
async function readIgnoreRules(children: readonly FolderNode[], prefix: string): Promise<IgnoreRules[]> {
  const file = children.find((child): child is FileNode => child.kind === 'file' && child.name === '.gitignore');
  const text = await file
    ?.read()
    .then((read) => read.text())
    .catch(() => undefined);
  return text === undefined ? [] : [{ offset: prefix.length, rules: ignore({ allowRelativePaths: true }).add(text) }];
}
