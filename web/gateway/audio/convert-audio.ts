import {
  AdtsOutputFormat,
  BufferSource,
  BufferTarget,
  canEncodeAudio,
  Conversion,
  FlacOutputFormat,
  Input,
  MP3,
  OggOutputFormat,
  Output,
  type OutputFormat,
  WAVE,
} from 'mediabunny';
import { fromBase64, toBase64 } from '#shared/base64.ts';
import type { EncodedFormat } from '#shared/ports/audio-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';

/** Opus has no other rate that every encoder takes. */
const SAMPLE_RATE = 48_000;

const CONTAINERS: Readonly<Record<EncodedFormat, () => OutputFormat>> = {
  opus: () => new OggOutputFormat(),
  aac: () => new AdtsOutputFormat(),
  flac: () => new FlacOutputFormat(),
};

/** Converts an MP3 or WAV file in base64. Throws `INVALID_PARAMS` for a format that the browser can't encode. */
export async function convertAudio(audio: string, format: EncodedFormat, signal: AbortSignal): Promise<string> {
  if (!(await canEncodeAudio(format, { sampleRate: SAMPLE_RATE, numberOfChannels: 1 })))
    throw new RpcError('INVALID_PARAMS', `This browser can’t encode ${format}.`, { details: { field: 'format' } });
  using input = new Input({ source: new BufferSource(fromBase64(audio)), formats: [MP3, WAVE] });
  const target = new BufferTarget();
  const conversion = await Conversion.init({
    input,
    output: new Output({ format: CONTAINERS[format](), target }),
    audio: { codec: format, sampleRate: SAMPLE_RATE, numberOfChannels: 1 },
    tags: {},
    showWarnings: false,
  });
  const onabort = (): void => void conversion.cancel();
  signal.addEventListener('abort', onabort);
  try {
    await conversion.execute();
  } finally {
    signal.removeEventListener('abort', onabort);
  }
  signal.throwIfAborted();
  if (!target.buffer) throw new RpcError('INTERNAL_ERROR', 'The converted audio is empty.');
  return toBase64(new Uint8Array(target.buffer));
}
