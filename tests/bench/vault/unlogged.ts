// The floor of the change log: transactions that note nothing (host.ts puts this in the place of web/gateway/storage/change-log.ts).
import type { Change, ChangeRecorder as Noted } from '../../../web/gateway/storage/change-log.ts';

export * from '../../../web/gateway/storage/change-log.ts';

export class ChangeNotes implements Pick<Noted, 'changes' | 'record' | 'prefetch'> {
  readonly changes: Change[] = [];

  async record(): Promise<void> {}

  prefetch(): void {}
}
