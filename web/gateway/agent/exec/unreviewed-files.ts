import type { ContentLabels } from '../trust/content-labels.ts';

/** Files that programs display or convert, but do not run or read as settings. */
const DOCUMENT_FILE = /\.(md|markdown|csv|tsv|pdf|docx|xlsx|pptx|odt|html?|png|jpe?g|gif|webp|svg|mp3|wav|mp4|webm)$/i;
const MAX_FILES = 200;

interface UnreviewedFiles {
  paths: string[];
  sources: string[];
}

/**
 * Unreviewed files from outside in workspaces that could be code: a program may load them from its working directory, such as `json.py`,
 * `GNUmakefile` or `.npmrc`.
 */
export async function findUnreviewedFiles(labels: Pick<ContentLabels, 'list'>, workspaces: readonly string[]): Promise<UnreviewedFiles> {
  const lists = await Promise.all(
    workspaces.map(async (workspace) =>
      [...(await labels.list('file', `${workspace}/`))].map(([name, sources]) => ({ path: name.slice(workspace.length + 1), sources })),
    ),
  );
  const files = lists.flat().filter(({ path }) => !DOCUMENT_FILE.test(path));
  return { paths: files.slice(0, MAX_FILES).map(({ path }) => path), sources: [...new Set(files.flatMap(({ sources }) => sources))] };
}
