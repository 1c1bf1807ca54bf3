/** A WAV file that cannot be read. */
export class WavError extends Error {
  override name = 'WavError';
}

interface Wav {
  channels: 1 | 2;
  sampleRate: number;
  /** 16-bit samples, little endian, channels interleaved. */
  data: Uint8Array;
}

const HEADER_BYTES = 44;

/** Reads a WAV file of 16-bit samples. Throws `WavError`. */
export function parseWav(bytes: Uint8Array): Wav {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tag = (at: number): string => String.fromCharCode(...bytes.subarray(at, at + 4));
  if (bytes.length < 12 || tag(0) !== 'RIFF' || tag(8) !== 'WAVE') throw new WavError('not a WAV file');
  let format: { channels: number; sampleRate: number; bits: number } | undefined;
  for (let at = 12; at + 8 <= bytes.length;) {
    const id = tag(at);
    const start = at + 8;
    // An engine that writes to a pipe does not know the size, and states more than there is.
    const end = Math.min(bytes.length, start + view.getUint32(at + 4, true));
    if (id === 'fmt ' && end - start >= 16)
      format = {
        channels: view.getUint16(start + 2, true),
        sampleRate: view.getUint32(start + 4, true),
        bits: view.getUint16(start + 14, true),
      };
    if (id === 'data') {
      if (format?.bits !== 16) throw new WavError('its samples are not 16-bit');
      const { channels, sampleRate } = format;
      if (channels !== 1 && channels !== 2) throw new WavError(`it has ${channels} channels`);
      const frame = 2 * channels;
      const data = bytes.subarray(start, start + Math.floor((end - start) / frame) * frame);
      if (data.length === 0) throw new WavError('it is empty');
      return { channels, sampleRate, data };
    }
    at = end + (end % 2);
  }
  throw new WavError('it has no sound');
}

/** Creates a WAV file whose header states its true sizes. */
export function writeWav({ channels, sampleRate, data }: Wav): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(HEADER_BYTES + data.length);
  const view = new DataView(bytes.buffer);
  const tag = (at: number, text: string): void => {
    for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i);
  };
  tag(0, 'RIFF');
  view.setUint32(4, bytes.length - 8, true);
  tag(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * channels * 2, true);
  view.setUint16(32, channels * 2, true);
  view.setUint16(34, 16, true);
  tag(36, 'data');
  view.setUint32(40, data.length, true);
  bytes.set(data, HEADER_BYTES);
  return bytes;
}

/** The sound as mono samples at another rate, by linear interpolation: 16-bit, little endian, without a header. */
export function toPcm({ channels, sampleRate, data }: Wav, rate: number): Uint8Array<ArrayBuffer> {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const frames = data.length / (2 * channels);
  const sample = (frame: number): number => {
    const at = Math.min(frame, frames - 1) * 2 * channels;
    const left = view.getInt16(at, true);
    return channels === 1 ? left : (left + view.getInt16(at + 2, true)) / 2;
  };
  const length = Math.max(1, Math.round((frames * rate) / sampleRate));
  const out = new DataView(new ArrayBuffer(length * 2));
  for (let i = 0; i < length; i++) {
    const position = (i * sampleRate) / rate;
    const before = Math.floor(position);
    const value = sample(before) + (sample(before + 1) - sample(before)) * (position - before);
    out.setInt16(i * 2, Math.round(value), true);
  }
  return new Uint8Array(out.buffer);
}
