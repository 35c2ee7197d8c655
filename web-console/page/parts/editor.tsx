// The code editor, loaded on first use: CodeMirror is a chunk of its own.

import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type CodeEditor from './code-editor.tsx';
import type { CodeEditorProps } from './code-editor.tsx';

export function Editor(props: CodeEditorProps): VNode {
  const [Loaded, setLoaded] = useState<typeof CodeEditor | undefined>(undefined);
  useEffect(() => {
    let here = true;
    void import('./code-editor.tsx').then((module) => {
      if (here) setLoaded(() => module.default);
    });
    return () => {
      here = false;
    };
  }, []);
  return Loaded === undefined ? <div class="code-editor" aria-busy="true" /> : <Loaded {...props} />;
}
