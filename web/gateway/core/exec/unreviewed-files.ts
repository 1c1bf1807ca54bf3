import type { ContentLabels } from '../trust/labels.ts';

/** Files that programs show or convert, and do not run or take for settings. */
const DOCUMENT = /\.(md|markdown|csv|tsv|pdf|docx|xlsx|pptx|odt|html?|png|jpe?g|gif|webp|svg|mp3|wav|mp4|webm)$/i;
const MAX_FILES = 200;

export interface UnreviewedFiles {
  paths: string[];
  sources: string[];
}

/**
 * Files of workspaces that came from outside, wait for review, and could be code: a program may load them from the folder that it runs in, such as `json.py`,
 * `GNUmakefile` or `.npmrc`.
 */
export async function findUnreviewedFiles(labels: Pick<ContentLabels, 'list'>, workspaces: readonly string[]): Promise<UnreviewedFiles> {
  const lists = await Promise.all(
    workspaces.map(async (workspace) =>
      [...(await labels.list('file', `${workspace}/`))].map(([name, sources]) => ({ path: name.slice(workspace.length + 1), sources })),
    ),
  );
  const files = lists.flat().filter(({ path }) => !DOCUMENT.test(path));
  return { paths: files.slice(0, MAX_FILES).map(({ path }) => path), sources: [...new Set(files.flatMap(({ sources }) => sources))] };
}
