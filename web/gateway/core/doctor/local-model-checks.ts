import { ggufPort } from '#shared/ports/gguf.ts';
import { modelDownloadsPort } from '#shared/ports/model-downloads.ts';
import { type Check, type DoctorDeps, fine, wrong } from './deps.ts';

const GIB = 1024 ** 3;
/** Bytes. The smallest models of use do not fit into less. */
const LITTLE = 2 * GIB;

/** Models on the bridge's disk, and what runs them. */
export function localModelChecks({ bridge }: DoctorDeps): Check[] {
  if (!bridge.lends(modelDownloadsPort) || !bridge.lends(ggufPort)) return [];
  return [
    {
      id: 'local-models',
      title: 'Models on this machine’s disk',
      async look(signal) {
        const [{ models }, room] = await Promise.all([
          bridge.call(ggufPort, 'gguf.list', {}, { signal }),
          bridge.call(modelDownloadsPort, 'downloads.room', {}, { signal }),
        ]);
        const free = `${(room.freeBytes / GIB).toFixed(1)} GB are free`;
        const { gguf } = room;
        const [broken, ...more] = models.filter(({ problem }) => problem !== null);
        if (broken)
          return wrong(
            'warning',
            `${broken.id} cannot be run: ${broken.problem ?? ''}${more.length > 0 ? `; ${more.length} more cannot either` : ''}.`,
            'Download it again, or delete it: Settings → Providers, or `models.deleteLocal`.',
          );
        const wanting = models.some(({ backend }) => backend === 'gguf') && gguf.state !== 'ready';
        if (wanting && gguf.state === 'unsupported')
          return wrong(
            'warning',
            `GGUF models cannot be run here: ${gguf.package} has no build for this machine.`,
            'Add a model server in Settings → Providers.',
          );
        if (wanting)
          return wrong(
            'warning',
            gguf.state === 'outdated'
              ? `There are GGUF models, and ${gguf.package} ${gguf.version ?? ''}; ${gguf.wanted} is wanted.`
              : `There are GGUF models, and what runs them is not installed (${gguf.package} ${gguf.wanted}).`,
            `Run: \`${room.install}\``,
          );
        const runtime =
          gguf.state === 'ready' ? `${gguf.package} ${gguf.wanted} runs GGUF models` : 'What runs GGUF models is not installed';
        const mlx = room.mlx === null ? ', MLX is there too' : '';
        const there =
          models.length === 0
            ? 'no model is on the disk'
            : models.length === 1
              ? 'one model is there'
              : `${models.length} models are there`;
        const all = `${runtime}${mlx}; ${there}; ${free}.`;
        return room.freeBytes < LITTLE ? wrong('info', all, 'Make room on the disk before you download a model.') : fine(all);
      },
    },
  ];
}
