import { toClause } from '#shared/clause.ts';
import { ggufPort } from '#shared/ports/gguf-port.ts';
import { modelDownloadsPort } from '#shared/ports/model-downloads-port.ts';
import { type HealthCheck, type DoctorDeps, reportOk, reportProblem } from './doctor-deps.ts';

const GIB = 1024 ** 3;
/** In bytes. The smallest useful models need more. */
const MIN_FREE_BYTES = 2 * GIB;

/** Checks of models on the bridge's disk, and of the programs that run them. */
export function localModelChecks({ bridge }: DoctorDeps): HealthCheck[] {
  if (!bridge.provides(modelDownloadsPort) || !bridge.provides(ggufPort)) return [];
  return [
    {
      id: 'local-models',
      title: 'Local models',
      async run(signal) {
        const [{ models }, disk] = await Promise.all([
          bridge.call(ggufPort, 'gguf.list', {}, { signal }),
          bridge.call(modelDownloadsPort, 'downloads.room', {}, { signal }),
        ]);
        const free = `${(disk.freeBytes / GIB).toFixed(1)} GB free`;
        const { gguf } = disk;
        const [broken, ...more] = models.filter(({ problem }) => problem !== null);
        if (broken)
          return reportProblem(
            'warning',
            `${broken.id} can’t run: ${toClause(broken.problem ?? '')}.${more.length > 0 ? ` ${more.length} more can’t run either.` : ''}`,
            'Download it again or delete it in Models (`models.deleteLocal`).',
          );
        const isRuntimeMissing = models.some(({ backend }) => backend === 'gguf') && gguf.state !== 'ready';
        if (isRuntimeMissing && gguf.state === 'unsupported')
          return reportProblem(
            'warning',
            `GGUF models can’t run on this computer: ${gguf.package} has no build for it.`,
            'Add a model server in Models.',
          );
        if (isRuntimeMissing)
          return reportProblem(
            'warning',
            gguf.state === 'outdated'
              ? `GGUF models need ${gguf.package} ${gguf.wanted}, but version ${gguf.version ?? 'unknown'} is installed.`
              : `GGUF models need ${gguf.package} ${gguf.wanted}, which is not installed.`,
            `Run: \`${disk.install}\``,
          );
        const runtime =
          gguf.state === 'ready' ? `GGUF models run with ${gguf.package} ${gguf.wanted}` : 'No runtime for GGUF models installed';
        const mlx = disk.mlx === null ? ', MLX available' : '';
        const installed =
          models.length === 0 ? 'no models downloaded' : models.length === 1 ? '1 model downloaded' : `${models.length} models downloaded`;
        const all = `${runtime}${mlx}; ${installed}; ${free}.`;
        return disk.freeBytes < MIN_FREE_BYTES ? reportProblem('info', all, 'Free disk space before you download a model.') : reportOk(all);
      },
    },
  ];
}
