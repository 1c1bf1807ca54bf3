import { describe, expect, it } from 'vitest';
import { COLLECTION_LIMITS } from '#shared/rpc/methods/collection-contracts.ts';
import { type DirectoryNode, type FileNode, type FolderNode, fromFiles } from './folder-tree.ts';
import { listFiles, MAX_FILE_BYTES, MAX_FILES } from './list-files.ts';

const file = (name: string, content = 'words'): FileNode => ({
  kind: 'file',
  name,
  read: () => Promise.resolve(new File([content], name)),
});
const folder = (name: string, ...children: FolderNode[]): DirectoryNode => ({
  kind: 'folder',
  name,
  list: () => Promise.resolve(children),
});
const list = async (...roots: FolderNode[]): Promise<string[]> => (await listFiles(roots)).files.map(({ path }) => path);

describe('files of a folder', () => {
  it('has the limits of the gateway', () => {
    expect({ MAX_FILES, MAX_FILE_BYTES }).toEqual({
      MAX_FILES: COLLECTION_LIMITS.documents,
      MAX_FILE_BYTES: COLLECTION_LIMITS.sentFileBytes,
    });
  });

  it('lists them at any depth by name, from the folder’s name on', async () => {
    const notes = folder('notes', file('b.md'), folder('a', file('z.txt')), file('10.txt'));
    expect(await list(notes)).toEqual(['notes/10.txt', 'notes/a/z.txt', 'notes/b.md']);
    expect((await listFiles([notes])).folderName).toBe('notes');
    expect(await list(file('alone.txt'))).toEqual(['alone.txt']);
    expect((await listFiles([file('alone.txt')])).folderName).toBeNull();
  });

  it('leaves hidden files, files of tools and those of a .gitignore out without a word', async () => {
    const project = folder(
      'project',
      file('.env'),
      folder('.git', file('HEAD')),
      folder('node_modules', file('x.js')),
      file('Thumbs.db'),
      file('.gitignore', 'build/\n*.log\n!keep.log\n'),
      folder('build', file('out.js')),
      file('a.log'),
      file('keep.log'),
      folder('src', file('main.ts'), file('b.log'), file('.gitignore', '/private.ts\n'), file('private.ts')),
      file('private.ts'),
    );
    expect(await list(project)).toEqual(['project/keep.log', 'project/private.ts', 'project/src/main.ts']);
  });

  it('counts files that are too large, without text, or gone', async () => {
    const large: FileNode = {
      kind: 'file',
      name: 'large.pdf',
      read: () => Promise.resolve(new File([new Uint8Array(MAX_FILE_BYTES + 1)], 'large.pdf')),
    };
    const gone: FileNode = { kind: 'file', name: 'gone.txt', read: () => Promise.reject(new DOMException('gone', 'NotFoundError')) };
    const listing = await listFiles([folder('all', large, gone, file('clip.MP4'), file('empty.txt', ''), file('good.txt'))]);
    expect(listing.files.map(({ path }) => path)).toEqual(['all/good.txt']);
    expect(listing).toMatchObject({ tooLarge: 1, unreadable: 2, bytes: 5, isCut: false });
  });

  it('stops at the maximum, and when it is cancelled', async () => {
    const many = folder('many', ...Array.from({ length: MAX_FILES + 5 }, (_, at) => file(`${at}.txt`, 'x')));
    const listing = await listFiles([many]);
    expect(listing.files).toHaveLength(MAX_FILES);
    expect(listing.isCut).toBe(true);
    const abort = new AbortController();
    const listed = listFiles([many], { signal: abort.signal, onfound: (count) => count === 10 && abort.abort() });
    await expect(listed).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('replaces characters that a path must not have', async () => {
    expect(await list(folder('a\\b', file('tab\t.txt')))).toEqual(['a_b/tab_.txt']);
  });

  it('puts the files of an input field into their folders', async () => {
    const picked = ['notes/a.txt', 'notes/inner/b.txt'].map((path) => {
      const picked = new File(['words'], path.split('/').at(-1) ?? '');
      return Object.defineProperty(picked, 'webkitRelativePath', { value: path });
    });
    const roots = fromFiles(picked);
    expect(roots.map(({ kind, name }) => ({ kind, name }))).toEqual([{ kind: 'folder', name: 'notes' }]);
    expect(await list(...roots)).toEqual(['notes/a.txt', 'notes/inner/b.txt']);
  });
});
