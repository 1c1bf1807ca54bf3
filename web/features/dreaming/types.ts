import type { DreamSignal } from '#shared/rpc/methods/dreaming-contracts.ts';
import type { MethodParams, MethodResult } from '#shared/rpc/methods/index.ts';

export type DreamStatus = MethodResult<'dreaming.status'>;
export type SignalState = NonNullable<MethodParams<'dreaming.signals'>['state']>;
export type ScoreComponent = keyof DreamSignal['components'];
