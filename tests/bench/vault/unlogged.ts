// The baseline of the change log: transactions that record nothing (bench-host.ts replaces web/gateway/storage/change-log.ts with this file).
import type { Change, ChangeRecorder as Noted } from '../../../web/gateway/storage/change-log.ts';

export * from '../../../web/gateway/storage/change-log.ts';

export class ChangeNotes implements Pick<Noted, 'changes' | 'record' | 'prefetch'> {
  readonly changes: Change[] = [];

  async record(): Promise<void> {}

  prefetch(): void {}
}
