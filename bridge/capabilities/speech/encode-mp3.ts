import { setImmediate } from 'node:timers/promises';
import { parseWav } from '#shared/wav.ts';

const BITRATE_KBPS = 64;
/** Number of samples encoded per turn of the event loop. A long text takes seconds, during which the bridge must stay responsive. */
export const SAMPLES_PER_SLICE = 16 * 1024;

/** Encodes a WAV file with 16-bit samples as MP3. */
export async function encodeMp3(wav: Buffer, signal?: AbortSignal): Promise<Buffer> {
  const { channels, sampleRate, length, samples } = readWav(wav);
  // Loaded on demand: 0.8 MB of source.
  const { createMp3Encoder } = await import('wasm-media-encoders');
  const encoder = await createMp3Encoder();
  encoder.configure({ channels, sampleRate, bitrate: BITRATE_KBPS });
  const parts: Buffer[] = [];
  for (let at = 0; at < length; at += SAMPLES_PER_SLICE) {
    // Copied, since the encoder reuses its memory in the next call.
    parts.push(Buffer.from(encoder.encode(samples(at, Math.min(length, at + SAMPLES_PER_SLICE)))));
    await setImmediate();
    signal?.throwIfAborted();
  }
  return Buffer.concat([...parts, Buffer.from(encoder.finalize())]);
}

interface WavAudio {
  channels: 1 | 2;
  sampleRate: number;
  /** Number of samples per channel. */
  length: number;
  /** A range of samples of each channel, −1 to 1. */
  samples(from: number, to: number): Float32Array[];
}

function readWav(wav: Buffer): WavAudio {
  const { channels, sampleRate, data } = parseWav(wav);
  const view = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const sample = (index: number): number => view.readInt16LE(2 * index) / 32_768;
  return {
    channels,
    sampleRate,
    length: data.length / 2 / channels,
    samples: (from, to) =>
      Array.from({ length: channels }, (_, channel) =>
        Float32Array.from({ length: to - from }, (_, index) => sample((from + index) * channels + channel)),
      ),
  };
}
