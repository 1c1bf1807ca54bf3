import OpenAI from 'openai';
import { checkedFetch } from '../support/openai-shapes/checked-fetch.ts';
import type { Perch } from './perch-process.ts';

/** The official package as a client of the gateway; its answers are held against the public reference. */
export const createOpenai = (perch: Perch, apiKey = perch.token): OpenAI =>
  new OpenAI({ baseURL: `${perch.url}/v1`, apiKey, maxRetries: 0, fetch: checkedFetch });
