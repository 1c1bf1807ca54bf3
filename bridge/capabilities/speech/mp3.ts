import { setImmediate } from 'node:timers/promises';

/** A WAV file that cannot be read. */
export class WavUnreadable extends Error {
  override name = 'WavUnreadable';
}

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
  if (wav.length < 12 || wav.toString('latin1', 0, 4) !== 'RIFF' || wav.toString('latin1', 8, 12) !== 'WAVE')
    throw new WavUnreadable('not a WAV file');
  let format: { channels: number; sampleRate: number; bits: number } | undefined;
  for (let at = 12; at + 8 <= wav.length;) {
    const id = wav.toString('latin1', at, at + 4);
    const start = at + 8;
    // An engine that writes to a pipe does not know the size, and says more than there is.
    const end = Math.min(wav.length, start + wav.readUInt32LE(at + 4));
    if (id === 'fmt ' && end - start >= 16)
      format = { channels: wav.readUInt16LE(start + 2), sampleRate: wav.readUInt32LE(start + 4), bits: wav.readUInt16LE(start + 14) };
    if (id === 'data') {
      if (format?.bits !== 16) throw new WavUnreadable('its samples are not 16-bit');
      const { channels, sampleRate } = format;
      if (channels !== 1 && channels !== 2) throw new WavUnreadable(`it has ${channels} channels`);
      const length = Math.floor((end - start) / 2 / channels);
      if (length === 0) throw new WavUnreadable('it is empty');
      const sample = (index: number): number => wav.readInt16LE(start + 2 * index) / 32_768;
      const samples = (from: number, to: number): Float32Array[] =>
        Array.from({ length: channels }, (_, channel) =>
          Float32Array.from({ length: to - from }, (_, index) => sample((from + index) * channels + channel)),
        );
      return { channels, sampleRate, length, samples };
    }
    at = end + (end % 2);
  }
  throw new WavUnreadable('it has no sound');
}
