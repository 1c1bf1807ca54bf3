import type { ContentLabels } from '../../trust/content-labels.ts';
import type { Workspace } from '../../../knowledge/memory/workspace.ts';

/**
 * A workspace that hides files waiting for review from reading and listing, for summaries and dreaming, whose output every later run reads.
 * Writes are not affected.
 */
export function createReviewedWorkspace(workspace: Workspace, name: string, labels: Pick<ContentLabels, 'getSources' | 'list'>): Workspace {
  const isReviewed = async (path: string): Promise<boolean> => (await labels.getSources('file', `${name}/${path}`)).length === 0;
  return {
    ...workspace,
    read: async (path) => ((await isReviewed(path)) ? workspace.read(path) : undefined),
    stat: async (path) => ((await isReviewed(path)) ? workspace.stat(path) : undefined),
    async list(folder) {
      const labelled = await labels.list('file', `${name}/`);
      return (await workspace.list(folder)).filter(({ path }) => !labelled.has(`${name}/${path}`));
    },
  };
}
