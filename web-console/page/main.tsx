// The entry point: it draws the shell at once, while the connection and the wasm module are loading.

import './style/base.css';
import './style/shell.css';
import './style/parts.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { connection } from './connection/state.ts';
import { applyTheme } from './parts/theme.ts';

applyTheme();
connection.reconnect();
const root = document.getElementById('app');
if (root) render(<App />, root);
