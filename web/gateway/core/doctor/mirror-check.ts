import { filesPort } from '#shared/ports/files.ts';
import { type Check, type DoctorDeps, fine, wrong } from './deps.ts';

/** Named one by one; of more the first are. */
const NAMED = 5;

/** How it stands with the folders of workspaces, where there is a bridge that lends them. */
export function mirrorChecks({ bridge, mirror }: DoctorDeps): Check[] {
  if (!bridge.lends(filesPort)) return [];
  return [
    {
      id: 'mirror',
      title: 'Workspaces in folders',
      look() {
        const { states } = mirror;
        const stopped = states.filter(({ state }) => state === 'stopped');
        const failed = states.filter(({ state }) => state === 'failed');
        const problems = [...stopped, ...failed].map(({ workspace, problem }) => `${workspace}: ${problem}`).join('; ');
        if (stopped.length > 0)
          return wrong(
            'error',
            `${problems}.`,
            'Put the files back, or call `workspace.resume` with the name of the workspace: “restore” as gone brings them back from the other side, “remove” deletes them there, too.',
          );
        if (failed.length > 0) return wrong('error', `${problems}.`, 'Mend the folder; it is looked at again by itself.');
        const skipped = states.flatMap((state) => state.skipped.map(({ path, why }) => `${state.workspace}/${path} (${why})`));
        if (skipped.length === 0) return fine('Each workspace and its folder are the same.');
        const more = states.reduce((sum, { skippedCount }) => sum + skippedCount, 0) - NAMED;
        return wrong(
          'warning',
          `These files are not mirrored: ${skipped.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`,
          'Rename or move them, or leave them where they are: nothing of them is lost.',
        );
      },
    },
  ];
}
