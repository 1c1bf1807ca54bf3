import { toClause } from '#shared/clause.ts';
import { ggufPort } from '#shared/ports/gguf.ts';
import { modelDownloadsPort } from '#shared/ports/model-downloads.ts';
import { type Check, type DoctorDeps, fine, wrong } from './deps.ts';

const GIB = 1024 ** 3;
/** In bytes. The smallest useful models need more. */
const LITTLE = 2 * GIB;

/** Checks of models on the bridge's disk, and of the programs that run them. */
export function localModelChecks({ bridge }: DoctorDeps): Check[] {
  if (!bridge.lends(modelDownloadsPort) || !bridge.lends(ggufPort)) return [];
  return [
    {
      id: 'local-models',
      title: 'Local models',
      async look(signal) {
        const [{ models }, room] = await Promise.all([
          bridge.call(ggufPort, 'gguf.list', {}, { signal }),
          bridge.call(modelDownloadsPort, 'downloads.room', {}, { signal }),
        ]);
        const free = `${(room.freeBytes / GIB).toFixed(1)} GB free`;
        const { gguf } = room;
        const [broken, ...more] = models.filter(({ problem }) => problem !== null);
        if (broken)
          return wrong(
            'warning',
            `${broken.id} can’t run: ${toClause(broken.problem ?? '')}.${more.length > 0 ? ` ${more.length} more can’t run either.` : ''}`,
            'Download it again or delete it in Models (`models.deleteLocal`).',
          );
        const wanting = models.some(({ backend }) => backend === 'gguf') && gguf.state !== 'ready';
        if (wanting && gguf.state === 'unsupported')
          return wrong(
            'warning',
            `GGUF models can’t run on this computer: ${gguf.package} has no build for it.`,
            'Add a model server in Models.',
          );
        if (wanting)
          return wrong(
            'warning',
            gguf.state === 'outdated'
              ? `GGUF models need ${gguf.package} ${gguf.wanted}, but version ${gguf.version ?? 'unknown'} is installed.`
              : `GGUF models need ${gguf.package} ${gguf.wanted}, which is not installed.`,
            `Run: \`${room.install}\``,
          );
        const runtime =
          gguf.state === 'ready' ? `GGUF models run with ${gguf.package} ${gguf.wanted}` : 'No runtime for GGUF models installed';
        const mlx = room.mlx === null ? ', MLX available' : '';
        const there =
          models.length === 0 ? 'no models downloaded' : models.length === 1 ? '1 model downloaded' : `${models.length} models downloaded`;
        const all = `${runtime}${mlx}; ${there}; ${free}.`;
        return room.freeBytes < LITTLE ? wrong('info', all, 'Free disk space before you download a model.') : fine(all);
      },
    },
  ];
}
