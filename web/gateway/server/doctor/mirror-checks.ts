import { toClause } from '#shared/clause.ts';
import { filesPort } from '#shared/ports/files-port.ts';
import { type HealthCheck, type DoctorDeps, reportOk, reportProblem } from './doctor-deps.ts';

/** Maximum number of workspaces named in the message. */
const MAX_NAMED = 5;

/** Checks the folders of mirrored workspaces, if a bridge provides them. */
export function mirrorChecks({ bridge, filesMirror }: DoctorDeps): HealthCheck[] {
  if (!bridge.provides(filesPort)) return [];
  return [
    {
      id: 'mirror',
      title: 'Workspace folders',
      run() {
        const states = filesMirror.loaded?.states ?? [];
        const stopped = states.filter(({ state }) => state === 'stopped');
        const failed = states.filter(({ state }) => state === 'failed');
        const problems = [...stopped, ...failed].map(({ workspace, problem }) => `${workspace}: ${toClause(problem ?? '')}`).join('; ');
        if (stopped.length > 0)
          return reportProblem(
            'error',
            `${problems}.`,
            'Put the files back, or call `workspace.resume` with the name of the workspace and gone set to "restore" (restore them from the other side) or "remove" (delete them there too).',
          );
        if (failed.length > 0) return reportProblem('error', `${problems}.`, 'Fix the folder. Perch checks it again automatically.');
        const skipped = states.flatMap((state) => state.skipped.map(({ path, why }) => `${state.workspace}/${path} (${why})`));
        if (skipped.length === 0) return reportOk('All workspaces match their folders.');
        const more = states.reduce((sum, { skippedCount }) => sum + skippedCount, 0) - MAX_NAMED;
        return reportProblem(
          'warning',
          `Files not mirrored: ${skipped.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`,
          'Rename or move them, or leave them as they are. Nothing is lost.',
        );
      },
    },
  ];
}
