package io.github.shardkeeper.coordination.memory;

import io.github.shardkeeper.coordination.GroupDiagnostics;
import io.github.shardkeeper.coordination.GroupDiagnosticsContract;

class MemoryDiagnosticsTests extends GroupDiagnosticsContract {

	@Override
	protected GroupDiagnostics createNotes() {
		return new MemoryCoordinationStore().diagnostics();
	}

}
