import type { BackupEntry } from '#shared/rpc/methods/backup-contracts.ts';

const DAY_MS = 24 * 3_600_000;
const FOLDER = '/home/demo/perch/backups';

/** Backups that the demo shows, of the days before `now`. */
export const createSampleBackups = (now: number): BackupEntry[] =>
  [
    { days: 1, size: 1_840_000, records: 1412, secrets: true },
    { days: 8, size: 1_610_000, records: 1250, secrets: true },
    { days: 36, size: 1_020_000, records: 803, secrets: false },
  ].map(({ days, ...backup }) => {
    const created = new Date(new Date(now - days * DAY_MS).setHours(3, 0, 0, 0)).toISOString();
    const name = `perch-${created.slice(0, 10)}.backup`;
    return { ...backup, name, created, path: `${FOLDER}/${name}` };
  });
