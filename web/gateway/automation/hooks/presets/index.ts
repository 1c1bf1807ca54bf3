import type { HookPreset } from '#shared/rpc/methods/hook-contracts.ts';
import { generic } from './generic.ts';
import { github } from './github.ts';
import { gitlab } from './gitlab.ts';
import type { Preset } from './preset.ts';
import { sentry } from './sentry.ts';
import { stripe } from './stripe.ts';

export const PRESETS: Readonly<Record<HookPreset, Preset>> = { json: generic, standard: generic, github, gitlab, stripe, sentry };
