import { setImmediate } from 'node:timers/promises';
import { parseWav } from '#shared/wav.ts';

const KILOBITS = 64;
/** Samples that are encoded at once: a long text takes seconds, in which the bridge must do other things too. */
export const SLICE = 16 * 1024;

/** The MP3 of a WAV file of 16-bit samples, as speech engines write them. */
export async function mp3Of(wav: Buffer, signal?: AbortSignal): Promise<Buffer> {
  const { channels, sampleRate, length, samples } = readWav(wav);
  // 0.8 MB of source, which an idle bridge has no use for.
  const { createMp3Encoder } = await import('wasm-media-encoders');
  const encoder = await createMp3Encoder();
  encoder.configure({ channels, sampleRate, bitrate: KILOBITS });
  const parts: Buffer[] = [];
  for (let at = 0; at < length; at += SLICE) {
    // What the encoder gives lies in its own memory, until the next call.
    parts.push(Buffer.from(encoder.encode(samples(at, Math.min(length, at + SLICE)))));
    await setImmediate();
    signal?.throwIfAborted();
  }
  return Buffer.concat([...parts, Buffer.from(encoder.finalize())]);
}

interface Sound {
  channels: 1 | 2;
  sampleRate: number;
  /** Of each channel. */
  length: number;
  /** Some of each channel's, −1 to 1. */
  samples(from: number, to: number): Float32Array[];
}

function readWav(wav: Buffer): Sound {
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
