import { formatNumber } from '../i18n/format.ts';
import { m } from '../i18n/messages.ts';

const MB = 1024 * 1024;

/** Limits of attachments, in bytes. */
export const ATTACHMENT_LIMITS = { each: 16 * MB, image: 6 * MB, all: 18 * MB, count: 50, messageChars: 500_000 } as const;

interface FileInfo {
  name: string;
  type: string;
  size: number;
}

/** Why a file cannot be added to those already attached, as a sentence; null if it can. */
export function getAttachmentError(file: FileInfo, attached: readonly { size: number }[]): string | null {
  const { each, image, all, count } = ATTACHMENT_LIMITS;
  const { name } = file;
  if (file.size === 0) return m.chat_file_empty({ name });
  if (file.type.startsWith('image/') && file.size > image) return m.chat_image_too_large({ name, size: formatBytes(file.size) });
  if (file.size > each) return m.chat_file_too_large({ name, size: formatBytes(file.size) });
  const sum = attached.reduce((total, { size }) => total + size, file.size);
  if (sum > all) return m.chat_files_too_large({ name, size: formatBytes(sum) });
  if (attached.length >= count) return m.chat_files_too_many({ count });
  return null;
}

/** Formats a size: `3.4 MB`. */
export function formatBytes(size: number): string {
  if (size < 1024) return m.chat_size_b({ size: formatPlainNumber(size, 0) });
  let value = size / 1024;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return (UNITS[unit] ?? UNITS[0])({ size: formatPlainNumber(value, value >= 100 ? 0 : 1) });
}

const UNITS = [
  (params: { size: string }) => m.chat_size_kb(params),
  (params: { size: string }) => m.chat_size_mb(params),
  (params: { size: string }) => m.chat_size_gb(params),
  (params: { size: string }) => m.chat_size_tb(params),
] as const;

const formatPlainNumber = (value: number, digits: number): string =>
  formatNumber(value, { useGrouping: false, minimumFractionDigits: digits, maximumFractionDigits: digits });
